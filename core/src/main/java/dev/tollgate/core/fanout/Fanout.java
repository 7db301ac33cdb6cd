package dev.tollgate.core.fanout;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Threads;
import dev.tollgate.core.Unavailable;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;

/**
 * Splits work on many tenants into chunks. An invocation works on the first chunk itself and
 * requests the others from further invocations, which do not split again. So few tenants need one
 * invocation, and the depth is always one: Lambda stops functions that invoke themselves 16 deep.
 *
 * <p>The ranges of the chunks adjoin and together contain every id. So a tenant that is listed
 * throughout is in exactly one chunk, also while other tenants come and go.
 *
 * @see <a href="https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html">Lambda
 *     recursive loop detection</a>
 */
public final class Fanout {
  private final SelfInvocation<Chunk> requests;
  private final int size;
  private final Executor executor;
  private final InstantSource clock;

  /**
   * A split of work.
   *
   * @param size the number of tenants in a chunk
   * @param executor sends requests; its threads limit how many at a time
   */
  public Fanout(SelfInvocation<Chunk> requests, int size, Executor executor, InstantSource clock) {
    this.requests = requests;
    this.size = size;
    this.executor = executor;
    this.clock = clock;
  }

  /** Lists the ids of tenants in order. */
  @FunctionalInterface
  public interface Ids {
    /**
     * The first ids after {@code after}, or the first of all, in order. There are fewer than {@code
     * max} only if no more follow.
     *
     * @throws Unavailable if they cannot be read
     */
    List<TenantId> next(Optional<TenantId> after, int max);
  }

  /**
   * The result of a split.
   *
   * @param first the tenants of the first chunk, which the caller works on
   * @param chunks the number of chunks, the first included
   * @param failures why chunks could not be requested, one reason for each
   */
  public record Split(List<TenantId> first, int chunks, List<String> failures) {
    /** Copies the lists. */
    public Split {
      first = List.copyOf(first);
      failures = List.copyOf(failures);
    }
  }

  /**
   * Splits the tenants and requests all chunks but the first. If the ids cannot be listed to their
   * end, or not until {@code until}, the last chunk contains all the others.
   *
   * @throws Unavailable if not even the first ids can be read
   */
  public Split split(String task, Ids ids, Instant until) {
    // One more than a chunk, which tells whether another chunk follows.
    List<TenantId> first = ids.next(Optional.empty(), size + 1);
    List<Optional<TenantId>> ends = new ArrayList<>();
    Optional<TenantId> end = endOfFull(first);
    while (end.isPresent()) {
      ends.add(end);
      end = endOfFull(nextOrNone(ids, end, until));
    }
    ends.add(Optional.empty());
    List<Chunk> chunks = new ArrayList<>();
    for (int i = 1; i < ends.size(); i++) {
      chunks.add(new Chunk(task, ends.get(i - 1), ends.get(i), ends.size()));
    }
    List<String> failures =
        Threads.map(chunks, this::send, executor).stream().flatMap(Optional::stream).toList();
    return new Split(first.subList(0, Math.min(size, first.size())), ends.size(), failures);
  }

  /** The ids of a chunk, read anew. */
  public List<TenantId> ids(Chunk chunk, Ids ids) {
    List<TenantId> found = new ArrayList<>();
    List<TenantId> page = ids.next(chunk.after(), size);
    page.stream().filter(chunk::reaches).forEach(found::add);
    while (page.size() == size && chunk.reaches(page.get(size - 1))) {
      page = ids.next(Optional.of(page.get(size - 1)), size);
      page.stream().filter(chunk::reaches).forEach(found::add);
    }
    return found;
  }

  private List<TenantId> nextOrNone(Ids ids, Optional<TenantId> after, Instant until) {
    if (!clock.instant().isBefore(until)) {
      return List.of();
    }
    try {
      return ids.next(after, size + 1);
    } catch (Unavailable unavailable) {
      return List.of();
    }
  }

  /** The last id of a chunk that another one follows. */
  private Optional<TenantId> endOfFull(List<TenantId> page) {
    return page.size() <= size ? Optional.empty() : Optional.of(page.get(size - 1));
  }

  private Optional<String> send(Chunk chunk) {
    try {
      requests.send(chunk);
      return Optional.empty();
    } catch (Unavailable unavailable) {
      return Optional.of(unavailable.reason());
    }
  }
}
