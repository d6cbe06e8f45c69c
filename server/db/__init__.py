"""The database: one writer thread, short reads, SQL written with SQLAlchemy Core. See `engine.Database`."""
