package dev.tollgate.core.session;

import dev.tollgate.core.Page;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.UnreadableRow;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** Reads all sessions of a tenant and holds one page at a time. */
public final class SessionPages {
  /** The most sessions of a page: about 400 KB of rows. */
  public static final int SIZE = 1_000;

  private SessionPages() {}

  /**
   * Passes every page of a tenant's sessions to {@code use}.
   *
   * @throws Unavailable if the store fails
   * @throws UnreadableRow if a session cannot be read
   */
  public static void forEach(
      Sessions sessions,
      TenantId tenant,
      Sessions.Consistency consistency,
      Consumer<List<Session>> use) {
    Optional<String> cursor = Optional.empty();
    do {
      Page<Session> page = sessions.page(tenant, cursor, SIZE, consistency);
      use.accept(page.itemsOrThrow());
      cursor = page.next();
    } while (cursor.isPresent());
  }
}
