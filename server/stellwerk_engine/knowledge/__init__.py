"""What a viewer may know: views, redaction, folding, imagining."""
