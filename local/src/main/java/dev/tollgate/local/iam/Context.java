package dev.tollgate.local.iam;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * The values of the condition keys of a request. Names of keys are not case-sensitive.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-keys.html">Global
 *     condition keys</a>
 */
public final class Context {
  /** No values. */
  public static final Context EMPTY = new Context(Map.of());

  private final Map<String, List<String>> values;

  private Context(Map<String, List<String>> values) {
    this.values = values;
  }

  /** This, and a key with one value. */
  public Context with(String key, String value) {
    return with(key, List.of(value));
  }

  /** This, and a key with any number of values; with none it is absent. */
  public Context with(String key, List<String> all) {
    if (all.isEmpty()) {
      return this;
    }
    Map<String, List<String>> more = new HashMap<>(values);
    more.put(key.toLowerCase(Locale.ROOT), List.copyOf(all));
    return new Context(more);
  }

  /** This, and a key for each tag, such as {@code aws:PrincipalTag/tenantId}. */
  public Context withTags(String prefix, Collection<Map.Entry<String, String>> tags) {
    Context context = this;
    for (Map.Entry<String, String> tag : tags) {
      context = context.with(prefix + tag.getKey(), tag.getValue());
    }
    return context;
  }

  /** The values of a key, none if it is absent. */
  List<String> values(String key) {
    return values.getOrDefault(key.toLowerCase(Locale.ROOT), List.of());
  }

  /** The value of a key that has just one. */
  Optional<String> value(String key) {
    List<String> found = values(key);
    return found.size() == 1 ? Optional.of(found.get(0)) : Optional.empty();
  }
}
