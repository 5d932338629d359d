"""Speed side by side with peers: never run by the tests."""
