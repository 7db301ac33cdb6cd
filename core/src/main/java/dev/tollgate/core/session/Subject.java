package dev.tollgate.core.session;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import java.util.regex.Pattern;

/**
 * The subject of a token, by a pseudonym: a part of the SHA-256 digest of the tenant's id and the
 * claim {@code sub}. The claim may be any text and is personal data, so it is neither stored nor
 * logged; the pseudonym depends on the tenant, so subjects cannot be matched across tenants.
 *
 * @param pseudonym 22 characters, base64url (RFC 4648, section 5)
 */
public record Subject(String pseudonym) {
  private static final Pattern SYNTAX = Pattern.compile("[A-Za-z0-9_-]{22}");
  private static final int BYTES = 16;

  /**
   * Checks the pseudonym.
   *
   * @throws InvalidValue if it is not 22 characters of base64url
   */
  public Subject {
    InvalidValue.unless(
        SYNTAX.matcher(pseudonym).matches(), "subject", pseudonym, SYNTAX.pattern());
  }

  /**
   * The subject that a claim {@code sub} of a tenant's token names.
   *
   * @throws InvalidValue if the claim has a surrogate without its pair: all such characters have
   *     the same encoding, so different claims would have the same pseudonym
   */
  public static Subject of(TenantId tenant, String sub) {
    if (sub.codePoints().anyMatch(each -> Character.getType(each) == Character.SURROGATE)) {
      throw InvalidValue.ofSecret("subject", sub, "Unicode text");
    }
    byte[] digest = sha256().digest((tenant + ":" + sub).getBytes(StandardCharsets.UTF_8));
    return new Subject(
        Base64.getUrlEncoder().withoutPadding().encodeToString(Arrays.copyOf(digest, BYTES)));
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException("every Java platform has SHA-256", impossible);
    }
  }
}
