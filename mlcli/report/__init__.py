"""What a person sees: tables, confusion matrices and pictures, made from stored answers."""
