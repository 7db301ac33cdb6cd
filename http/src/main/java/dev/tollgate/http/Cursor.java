package dev.tollgate.http;

import dev.tollgate.core.InvalidValue;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;

/**
 * Encodes and decodes cursors. A cursor is the position after a page of a listing, as text for the
 * request of the next page. A checksum binds the cursor to its listing, so a cursor of another
 * listing and a damaged one are refused. A cursor protects nothing: a forged one reads a page of a
 * listing that its sender may read anyway.
 */
public final class Cursor {
  private static final int CHECK_BYTES = 8;
  private static final String EXPECTED = "`next` of the previous page of this listing";

  private Cursor() {}

  /**
   * Encodes a cursor.
   *
   * @param listing the name of the listing with its filter
   * @param position the position after the page
   */
  public static String encode(String listing, String position) {
    byte[] text = position.getBytes(StandardCharsets.UTF_8);
    byte[] whole =
        ByteBuffer.allocate(CHECK_BYTES + text.length).put(check(listing, text)).put(text).array();
    return Base64.getUrlEncoder().withoutPadding().encodeToString(whole);
  }

  /**
   * Decodes a cursor.
   *
   * @return the position
   * @throws InvalidValue if the cursor does not belong to this listing
   */
  public static String decode(String listing, String cursor) {
    byte[] whole = decoded(cursor);
    InvalidValue.unless(whole.length > CHECK_BYTES, "cursor", cursor, EXPECTED);
    byte[] text = Arrays.copyOfRange(whole, CHECK_BYTES, whole.length);
    String position = new String(text, StandardCharsets.UTF_8);
    InvalidValue.unless(cursor.equals(encode(listing, position)), "cursor", cursor, EXPECTED);
    return position;
  }

  private static byte[] decoded(String cursor) {
    try {
      return Base64.getUrlDecoder().decode(cursor);
    } catch (IllegalArgumentException malformed) {
      throw new InvalidValue("cursor", cursor, EXPECTED);
    }
  }

  private static byte[] check(String listing, byte[] position) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(listing.getBytes(StandardCharsets.UTF_8));
      digest.update((byte) 0);
      return Arrays.copyOf(digest.digest(position), CHECK_BYTES);
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
