package dev.tollgate.core.session;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.Page;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The first {@value #DIGITS} of the 32 digits of a session's id. It names the session to people and
 * in logs without being the secret: 80 random bits remain unknown. Two sessions of a tenant almost
 * never share a reference: among 10,000 sessions, with a probability of less than one in a million.
 */
public record SessionReference(String value) {
  private static final int DIGITS = 12;
  private static final Pattern SYNTAX = Pattern.compile("[0-9a-f]{" + DIGITS + "}");

  /** Sorts after every digit of an id. */
  private static final String AFTER_DIGITS = "g";

  /**
   * Checks the reference.
   *
   * @throws InvalidValue if it is not {@value #DIGITS} hexadecimal digits. Its value is kept out of
   *     logs: it may be a whole id
   */
  public SessionReference {
    if (!SYNTAX.matcher(value).matches()) {
      throw InvalidValue.ofSecret("session", value, SYNTAX.pattern());
    }
  }

  /** The reference of a session. */
  public static SessionReference of(SessionId id) {
    return new SessionReference(id.value().substring(0, DIGITS));
  }

  /**
   * Finds the sessions with this reference, by one consistent read of at most {@code max} sessions.
   *
   * @throws Unavailable if the store fails
   */
  public List<Session> find(Sessions sessions, TenantId tenant, int max) {
    return sessions
        .page(tenant, Optional.of(value), max, Sessions.Consistency.CONSISTENT)
        .items()
        .stream()
        .filter(session -> of(session.id()).equals(this))
        .toList();
  }

  /**
   * A page of a tenant's sessions by id, whose position does not reveal an id.
   *
   * @param last the position of the previous page; empty for the first page
   * @return the sessions, and the reference after which the next page begins
   * @throws InvalidValue if the position is not a reference
   * @throws Unavailable if the store fails
   */
  public static Page<Session> page(
      Sessions sessions,
      TenantId tenant,
      Optional<String> last,
      int max,
      Sessions.Consistency consistency) {
    Page<Session> page =
        sessions.page(
            tenant,
            last.map(reference -> new SessionReference(reference).value() + AFTER_DIGITS),
            max,
            consistency);
    return new Page<>(
        page.items(),
        page.next().filter(SessionId::isValid).map(id -> of(new SessionId(id)).value()),
        page.unreadable());
  }

  @Override
  public String toString() {
    return value;
  }
}
