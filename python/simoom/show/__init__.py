"""What people read: reports, tables for a terminal, notebooks, pages."""
