"""What a backend is asked, from the templates of pages to the whole request."""
