package dev.tollgate.core.message;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/**
 * A message that a backend sends to clients of a tenant, and not as the answer to a message of
 * theirs.
 *
 * @param tenant the tenant
 * @param id names the message in its frame; 1 to 64 letters, digits, {@code _} and {@code -}
 * @param json the message, a JSON text, byte for byte; the caller has checked that it is JSON
 */
public record Push(TenantId tenant, String id, String json) {
  private static final Pattern ID = Pattern.compile("[A-Za-z0-9_-]{1,64}");

  /**
   * Checks the id and the length.
   *
   * @throws InvalidValue if the id has a character or a length that is not allowed, the frame would
   *     have more than {@link Frames#MAX_BYTES}, or the message has a character that SQS refuses
   */
  public Push {
    InvalidValue.unless(ID.matcher(id).matches(), "id", id, ID.pattern());
    InvalidValue.unless(
        json.indexOf('\uFFFE') < 0 && json.indexOf('\uFFFF') < 0,
        "message",
        "U+FFFE or U+FFFF",
        "these as \\ufffe and \\uffff, because SQS refuses them");
    int bytes = json.getBytes(StandardCharsets.UTF_8).length;
    int max = Frames.MAX_BYTES - frame(id, "").length();
    InvalidValue.unless(bytes <= max, "message", bytes + " bytes", "at most " + max + " bytes");
  }

  /** The frame that sockets receive. */
  public String frame() {
    return frame(id, json);
  }

  private static String frame(String id, String json) {
    return "{\"type\":\"push\",\"id\":\"" + id + "\",\"message\":" + json + "}";
  }
}
