"""The app: files dropped on a page of the browser, and a server on this machine only."""
