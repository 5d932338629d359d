"""Views: functions of answers, datasets and models that build a document, and the same as plain values."""
