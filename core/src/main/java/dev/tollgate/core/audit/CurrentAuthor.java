package dev.tollgate.core.audit;

import java.util.function.Supplier;

/**
 * The author of the changes that this process makes now. Lambda gives a process one request at a
 * time, so the function sets the author when a request begins, and all threads that work for the
 * request read it.
 */
public final class CurrentAuthor implements Supplier<Author> {
  private volatile Author author = Author.UNKNOWN;

  /** Sets the author of all changes from now on. */
  public void set(Author next) {
    author = next;
  }

  @Override
  public Author get() {
    return author;
  }
}
