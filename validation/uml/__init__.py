"""Makes the points of ``docs/linux.md`` anew, by a Linux kernel in virtual time; see README.md."""
