package dev.tollgate.core;

/** Writes JSON without a library, whose classes a function would load for nothing else. */
public final class JsonText {
  private JsonText() {}

  /** A JSON string with this value. */
  public static String quoted(String value) {
    StringBuilder json = new StringBuilder("\"");
    for (char c : value.toCharArray()) {
      if (c < ' ') {
        json.append("\\u00")
            .append(Character.forDigit(c >> 4, 16))
            .append(Character.forDigit(c & 15, 16));
      } else {
        json.append(c == '"' || c == '\\' ? "\\" : "").append(c);
      }
    }
    return json.append('"').toString();
  }
}
