"""Tables that the store changes apart from the content of skills, a class each."""
