"""Results to what can be changed: where agreement is lost, and what mending it would bring."""
