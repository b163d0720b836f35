"""`surehand inventory`: what each handler consists of at run time, for people and for other deployment tools."""
