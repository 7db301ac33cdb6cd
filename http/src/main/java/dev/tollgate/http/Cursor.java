package dev.tollgate.http;

import dev.tollgate.core.InvalidValue;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;

/**
 * The end of a part of a listing, as text for whoever asks for the next part. It is bound to the
 * listing that it is of: one of another listing, or one that was changed on the way, is refused. It
 * is no secret, and opens nothing: whoever forges one gets a part of a listing that may be listed.
 */
public final class Cursor {
  private static final int CHECK_BYTES = 8;
  private static final String EXPECTED = "next of the part before, of the same listing";

  private Cursor() {}

  /**
   * The text.
   *
   * @param listing what is listed
   * @param end where the part ends
   */
  public static String of(String listing, String end) {
    byte[] text = end.getBytes(StandardCharsets.UTF_8);
    byte[] whole =
        ByteBuffer.allocate(CHECK_BYTES + text.length).put(check(listing, text)).put(text).array();
    return Base64.getUrlEncoder().withoutPadding().encodeToString(whole);
  }

  /**
   * Where the part ends that a text is of.
   *
   * @throws InvalidValue if it is of no part of this listing
   */
  public static String end(String listing, String cursor) {
    byte[] whole = decoded(cursor);
    InvalidValue.unless(whole.length > CHECK_BYTES, "cursor", cursor, EXPECTED);
    byte[] text = Arrays.copyOfRange(whole, CHECK_BYTES, whole.length);
    String end = new String(text, StandardCharsets.UTF_8);
    InvalidValue.unless(cursor.equals(of(listing, end)), "cursor", cursor, EXPECTED);
    return end;
  }

  private static byte[] decoded(String cursor) {
    try {
      return Base64.getUrlDecoder().decode(cursor);
    } catch (IllegalArgumentException malformed) {
      throw new InvalidValue("cursor", cursor, EXPECTED);
    }
  }

  private static byte[] check(String listing, byte[] end) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(listing.getBytes(StandardCharsets.UTF_8));
      digest.update((byte) 0);
      return Arrays.copyOf(digest.digest(end), CHECK_BYTES);
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
