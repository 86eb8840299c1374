"""Gold standards: the annotation that agrees best with a team, and what people decide."""
