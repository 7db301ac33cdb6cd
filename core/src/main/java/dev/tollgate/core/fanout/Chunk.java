package dev.tollgate.core.fanout;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Work on the tenants whose ids lie in a range. Ids are in the order of their characters.
 *
 * @param task names the work, for functions that do several kinds: letters, digits, {@code :_-}
 * @param after the id before the range; empty if the range has no beginning
 * @param upTo the last id of the range; empty if the range has no end
 * @param chunks the number of chunks of the split, among which they share what is limited for all
 */
public record Chunk(String task, Optional<TenantId> after, Optional<TenantId> upTo, int chunks)
    implements SelfInvocation.Work {
  private static final String TASK = "task";
  private static final String AFTER = "after";
  private static final String UP_TO = "upTo";
  private static final String CHUNKS = "chunks";
  private static final Pattern TASK_SYNTAX = Pattern.compile("[A-Za-z0-9:_-]{1,64}");

  /**
   * Checks the task and the number.
   *
   * @throws InvalidValue if the task has a character or a length that is not allowed, or the number
   *     is below 1
   */
  public Chunk {
    InvalidValue.unless(TASK_SYNTAX.matcher(task).matches(), TASK, task, TASK_SYNTAX.pattern());
    InvalidValue.inRange(CHUNKS, chunks, 1, Integer.MAX_VALUE);
  }

  /** Whether a tenant's id lies before the end of the range or is its end. */
  public boolean reaches(TenantId id) {
    return upTo.isEmpty() || id.value().compareTo(upTo.get().value()) <= 0;
  }

  @Override
  public Map<String, String> toEvent() {
    Map<String, String> event = new LinkedHashMap<>();
    event.put(TASK, task);
    after.ifPresent(id -> event.put(AFTER, id.value()));
    upTo.ifPresent(id -> event.put(UP_TO, id.value()));
    event.put(CHUNKS, Integer.toString(chunks));
    return event;
  }

  /**
   * The chunk that an event requests; empty if it is another event, such as that of a schedule.
   *
   * @throws InvalidValue if a member is invalid
   */
  public static Optional<Chunk> of(Map<String, ?> event) {
    return text(event, TASK)
        .map(
            task ->
                new Chunk(
                    task,
                    text(event, AFTER).map(TenantId::new),
                    text(event, UP_TO).map(TenantId::new),
                    text(event, CHUNKS).map(Chunk::number).orElse(1)));
  }

  private static int number(String text) {
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException other) {
      throw new InvalidValue(CHUNKS, text, "a whole number");
    }
  }

  private static Optional<String> text(Map<String, ?> event, String name) {
    return Optional.ofNullable(event.get(name)).map(Object::toString);
  }
}
