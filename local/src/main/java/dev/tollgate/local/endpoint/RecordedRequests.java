package dev.tollgate.local.endpoint;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** The calls that AWS APIs have answered: the last 100,000, in the order of their answers. */
public final class RecordedRequests {
  private static final int CAPACITY = 100_000;

  private final ArrayDeque<Request> requests = new ArrayDeque<>();

  /**
   * One answered call.
   *
   * @param service the service in the credential scope, such as {@code dynamodb}
   * @param operation the operation, such as {@code UpdateItem}
   * @param at the time of the call
   * @param status the HTTP status of the answer
   * @param resource the name of the table, queue, function, schedule or role concerned; several are
   *     separated by commas
   * @param invocation the id of the SDK's call, which all its attempts have; if the client does not
   *     say, that of this attempt alone
   */
  public record Request(
      String service,
      String operation,
      Principal principal,
      Instant at,
      int status,
      Optional<String> resource,
      String invocation) {}

  /** All calls since the last {@link #clear()}. */
  public synchronized List<Request> list() {
    return List.copyOf(requests);
  }

  /** The calls of a principal, under its own or an assumed role. */
  public List<Request> of(String principalName) {
    return list().stream().filter(r -> r.principal().name().equals(principalName)).toList();
  }

  /** The number of calls that match. */
  public long count(Predicate<Request> kind) {
    return list().stream().filter(kind).count();
  }

  /** Removes all calls. */
  public synchronized void clear() {
    requests.clear();
  }

  synchronized void add(Request request) {
    if (requests.size() == CAPACITY) {
      requests.removeFirst();
    }
    requests.addLast(request);
  }
}
