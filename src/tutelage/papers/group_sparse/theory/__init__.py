"""What is predicted: the exact risk, and the laws that follow from it. No data are seen here."""
