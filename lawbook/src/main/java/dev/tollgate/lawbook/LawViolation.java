package dev.tollgate.lawbook;

/**
 * Thrown if a subject breaks a law. The message names the law and the step, and says how to replay
 * the history.
 */
public final class LawViolation extends AssertionError {
  private static final long serialVersionUID = 1L;
  private static final int LINE_LENGTH = 100;

  private final transient Law<?> law;
  private final long seed;
  private final transient History shortest;

  LawViolation(Law<?> law, String terms, History whole, History shown, CheckResult.Broken broken) {
    super(message(law, terms, whole, shown, broken));
    this.law = law;
    this.seed = whole.seed();
    this.shortest = shown;
  }

  /** The broken law. */
  public Law<?> law() {
    return law;
  }

  /** The seed of the history that broke the law. */
  public long seed() {
    return seed;
  }

  /** The shortest history found that still breaks the law. */
  public History shortest() {
    return shortest;
  }

  private static String message(
      Law<?> law, String terms, History whole, History shown, CheckResult.Broken broken) {
    StringBuilder lines = new StringBuilder(400);
    lines.append("the law is broken: ").append(law.name()).append('\n');
    line(lines, "law", law.text());
    line(lines, "seed", whole.seed() + " (replay: -Dlawbook.seed=" + whole.seed() + ")");
    line(lines, "terms", terms);
    int count = shown.steps().size();
    String step =
        broken.step() > count
            ? "after all " + count + " steps"
            : "step " + broken.step() + " of " + count;
    line(lines, "at", step + ", " + broken.after() + " after the start");
    line(lines, "expected", broken.expected());
    line(lines, "happened", broken.happened());
    lines
        .append("  the shortest history found, shortened from ")
        .append(whole.steps().size())
        .append(" steps:\n");
    for (int i = 0; i < count; i++) {
      wrap(lines, "    %3d. ".formatted(i + 1), shown.steps().get(i).toString());
    }
    return lines.toString();
  }

  private static void line(StringBuilder lines, String name, String text) {
    wrap(lines, "  %-9s ".formatted(name + ":"), text);
  }

  /** Appends a text in lines of at most 100 characters; words that are longer stay whole. */
  private static void wrap(StringBuilder lines, String start, String text) {
    String indent = " ".repeat(start.length());
    int width = LINE_LENGTH - start.length();
    String wrapped = text.replaceAll("(.{1,%d})(?:\\s+|$)".formatted(width), "$1\n" + indent);
    lines.append(start).append(wrapped.stripTrailing()).append('\n');
  }
}
