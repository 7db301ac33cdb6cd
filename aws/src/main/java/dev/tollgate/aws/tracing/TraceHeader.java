package dev.tollgate.aws.tracing;

import dev.tollgate.core.InvalidValue;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The trace header of a sampled trace: {@code Root=1-…;Parent=…;Sampled=1}.
 *
 * @param root the id of the trace: {@code 1-}, its first second as 8 hexadecimal digits, {@code -},
 *     and 24 random ones
 * @param parent the id of the segment that continues: 16 hexadecimal digits
 * @see <a
 *     href="https://docs.aws.amazon.com/xray/latest/devguide/xray-concepts.html#xray-concepts-tracingheader">Tracing
 *     header</a>
 */
record TraceHeader(String root, String parent) {
  private static final Pattern ROOT = Pattern.compile("1-[0-9a-f]{8}-[0-9a-f]{24}");
  private static final Pattern PARENT = Pattern.compile("[0-9a-f]{16}");

  /** Longer texts are not parsed. Headers of Lambda have some 150 characters. */
  private static final int MAX_LENGTH = 1_000;

  TraceHeader {
    InvalidValue.unless(
        ROOT.matcher(root).matches(), "root", root, "1-, 8 hexadecimal digits, -, and 24 more");
    InvalidValue.unless(
        PARENT.matcher(parent).matches(), "parent", parent, "16 hexadecimal digits");
  }

  /**
   * Reads a header, which may contain further fields in any order. Empty if its trace is not
   * sampled, and if it is malformed: a header must not make a request fail.
   */
  static Optional<TraceHeader> sampled(String text) {
    if (text.length() > MAX_LENGTH) {
      return Optional.empty();
    }
    Map<String, String> fields = new HashMap<>();
    for (String field : text.split(";", -1)) {
      String[] pair = field.split("=", 2);
      fields.put(pair[0].strip(), pair.length == 2 ? pair[1].strip() : "");
    }
    String root = fields.getOrDefault("Root", "");
    String parent = fields.getOrDefault("Parent", "");
    boolean valid = ROOT.matcher(root).matches() && PARENT.matcher(parent).matches();
    return valid && fields.getOrDefault("Sampled", "").equals("1")
        ? Optional.of(new TraceHeader(root, parent))
        : Optional.empty();
  }

  /** The header for work that continues the segment {@code id}. */
  TraceHeader continuing(String id) {
    return new TraceHeader(root, id);
  }

  /** The header as text. */
  String text() {
    return "Root=" + root + ";Parent=" + parent + ";Sampled=1";
  }
}
