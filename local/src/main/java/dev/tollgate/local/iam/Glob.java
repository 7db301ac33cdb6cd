package dev.tollgate.local.iam;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * A pattern in a policy: {@code *} matches any characters, {@code ?} one character, and <code>
 * ${key}</code> the request's value of a key. Wildcards in the value of a variable are literal.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_variables.html">Policy
 *     variables</a>
 */
public record Glob(String text) {
  private static final Pattern VARIABLE = Pattern.compile("\\$\\{([^}]*)}");
  private static final int ARN_PARTS = 6;

  // Wildcards while variables are being replaced; no request holds these.
  private static final char ANY = '\uE000';
  private static final char ONE = '\uE001';

  /** Whether a text matches. No text matches if a variable has no value. */
  public boolean matches(String value, Context context) {
    return expanded(context).filter(glob -> matches(glob, value)).isPresent();
  }

  /** Whether a text equals this pattern, with literal wildcards. */
  boolean equals(String value, Context context) {
    return replaced(text, context).filter(value::equals).isPresent();
  }

  /**
   * Whether an ARN matches, each of its six parts separately: a star does not match a colon, except
   * in the last part. A star alone matches all resources.
   */
  boolean matchesArn(String arn, Context context) {
    return text.equals("*")
        || expanded(context).filter(glob -> matchesByParts(glob, arn)).isPresent();
  }

  private static boolean matchesByParts(String glob, String arn) {
    String[] globs = glob.split(":", ARN_PARTS);
    String[] parts = arn.split(":", ARN_PARTS);
    return globs.length == parts.length
        && IntStream.range(0, parts.length).allMatch(i -> matches(globs[i], parts[i]));
  }

  private Optional<String> expanded(Context context) {
    return replaced(text.replace('*', ANY).replace('?', ONE), context);
  }

  private static Optional<String> replaced(String text, Context context) {
    if (!text.contains("${")) {
      return Optional.of(text);
    }
    Matcher variable = VARIABLE.matcher(text);
    StringBuilder replaced = new StringBuilder();
    while (variable.find()) {
      Optional<String> value = value(variable.group(1), context);
      if (value.isEmpty()) {
        return Optional.empty();
      }
      variable.appendReplacement(replaced, Matcher.quoteReplacement(value.get()));
    }
    return Optional.of(variable.appendTail(replaced).toString());
  }

  /** <code>${*}</code>, <code>${?}</code> and <code>${$}</code> are the characters themselves. */
  private static Optional<String> value(String name, Context context) {
    return switch (name) {
      case "" + ANY -> Optional.of("*");
      case "" + ONE -> Optional.of("?");
      case "*", "?", "$" -> Optional.of(name);
      default -> context.value(name);
    };
  }

  /** Compares from the left. After a difference, the last star takes one more character. */
  private static boolean matches(String glob, String value) {
    int at = 0;
    int star = -1;
    int taken = 0;
    for (int i = 0; i < value.length(); ) {
      if (at < glob.length() && glob.charAt(at) == ANY) {
        star = at++;
        taken = i;
      } else if (at < glob.length()
          && (glob.charAt(at) == ONE || glob.charAt(at) == value.charAt(i))) {
        at++;
        i++;
      } else if (star >= 0) {
        at = star + 1;
        i = ++taken;
      } else {
        return false;
      }
    }
    return glob.substring(at).chars().allMatch(rest -> rest == ANY);
  }

  @Override
  public String toString() {
    return text;
  }
}
