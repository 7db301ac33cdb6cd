package dev.tollgate.controlplane.tenants;

import dev.tollgate.core.InvalidValue;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The condition in a request's {@code If-Match} header (RFC 9110, 13.1.1): the versions of a tenant
 * or a tier that the request may change. An entity tag is a version in quotes. The version covers
 * the desired state only, not the levels and counts in the same document.
 *
 * @param tags the entity tags, or {@code *} for any version; empty if the request has no condition
 */
public record IfMatch(Optional<Set<String>> tags) {
  /** No {@code If-Match} header. */
  static final IfMatch NONE = new IfMatch(Optional.empty());

  private static final String ANY = "*";
  private static final String EXPECTED = "an etag as GET returns it, such as \"7\" with its quotes";
  private static final Pattern TAG =
      Pattern.compile("\\G[ \\t]*((?:W/)?\"[^\"\\x00-\\x20\\x7f]*\")[ \\t]*(?:,|\\z)");

  /** Copies the tags. */
  public IfMatch {
    tags = tags.map(Set::copyOf);
  }

  /**
   * Parses the header.
   *
   * @throws InvalidValue if it is not a list of entity tags
   */
  public static IfMatch of(Optional<String> header) {
    return header.map(IfMatch::parsed).orElse(NONE);
  }

  private static IfMatch parsed(String header) {
    String text = header.strip();
    if (text.equals(ANY)) {
      return new IfMatch(Optional.of(Set.of(ANY)));
    }
    Set<String> tags = new HashSet<>();
    int end = 0;
    Matcher tag = TAG.matcher(text);
    while (tag.find()) {
      tags.add(tag.group(1));
      end = tag.end();
    }
    boolean wellFormed = !tags.isEmpty() && end == text.length() && !text.endsWith(",");
    InvalidValue.unless(wellFormed, "If-Match", header, EXPECTED);
    return new IfMatch(Optional.of(tags));
  }

  /** The entity tag of a version. */
  public static String etag(long version) {
    return "\"" + version + "\"";
  }

  /**
   * Whether the condition holds for this version.
   *
   * @param version the current version; empty if the tenant or tier does not exist
   */
  public boolean holds(Optional<Long> version) {
    if (tags.isEmpty()) {
      return true;
    }
    Set<String> wanted = tags.get();
    return version
        .filter(current -> wanted.contains(ANY) || wanted.contains(etag(current)))
        .isPresent();
  }
}
