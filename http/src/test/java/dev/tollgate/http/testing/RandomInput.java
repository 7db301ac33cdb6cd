package dev.tollgate.http.testing;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * Generates random input from a seed; the same seed generates the same input. Documents are
 * mutations of valid ones, because a parser rejects random noise at its start.
 */
public final class RandomInput {
  private static final JsonFactory JSON = new JsonFactory();

  /** Texts that are known to break parsers, templates, queries or shells. */
  private static final List<String> TEXTS =
      List.of(
          "",
          " ",
          "\u0000",
          "a\u0000b",
          "\u0001\u0008\u001b[31m\u007f",
          "\r\nX-Injected: 1",
          "\t\n\u000b\u000c\r\u0085\u2028",
          "\ud800",
          "\udc00\ud800",
          "x\udfff",
          "\uD83D\uDE80\uD83D\uDC69\u200D\uD83D\uDCBB",
          "\u202eevil\u202c \u0645\u0631\u062d\u0628\u0627",
          "e\u0301\u0302\u0303\u0304",
          "\uFEFF",
          "\uFFFE\uFFFF",
          "\u0130\u0131\u017f\u212a",
          "%",
          "%zz",
          "%00",
          "%2",
          "%252e%252e%252f",
          "%c0%ae",
          "%ud800",
          "+",
          "${jndi:ldap://x}",
          "${1+1}#{1+1}{{1+1}}",
          "#set($a=1)$a",
          "$input.path('$')",
          "$util.urlEncode('x')",
          "#foreach($i in [1..9])$i#end",
          "'",
          "\"",
          "\\",
          "\\u0000",
          "' OR 1=1 --",
          "\"},{\"tenantId\":\"watch\"",
          "*/ /*",
          "<!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]><a>&b;</a>",
          "<script>alert(1)</script>",
          "../../../../etc/passwd",
          "..%2f..",
          "/",
          "//",
          "a/b",
          ".",
          "..",
          "|id;`id`$(id)&",
          "-1",
          "0",
          "1",
          "1.0",
          "+1",
          " 1",
          "1e999",
          "-0",
          "NaN",
          "Infinity",
          "9223372036854775807",
          "9223372036854775808",
          "-9223372036854775809",
          "٣",
          "0x10",
          "null",
          "true",
          "undefined",
          "[object Object]",
          "__proto__",
          "#release",
          "bucket:connect",
          "connections",
          "watch:00000000000000000000000000000000",
          "*",
          "\"1\"",
          "W/\"1\"",
          "2026-01-01T00:00:00Z",
          "+999999999-12-31T23:59:59.999999999Z",
          "-999999999-01-01T00:00:00Z",
          "9999-99-99T99:99:99Z");

  /** Replacements of values; some are not JSON. */
  private static final List<String> VALUES =
      List.of(
          "null",
          "true",
          "false",
          "0",
          "-0",
          "-1",
          "1",
          "2",
          "1.0",
          "1.5",
          "1e2",
          "1e-7",
          "1e999",
          "-1e999",
          "1e-999",
          "1E2147483647",
          "1E+2147483648",
          "1e99999999999999999999",
          "1e-99999999999999999999",
          "2147483648",
          "9223372036854775807",
          "9223372036854775808",
          "-9223372036854775808",
          "0.1000000000000000055511151231257827",
          "01",
          "0x1f",
          "+1",
          ".5",
          "5.",
          "NaN",
          "-Infinity",
          "{}",
          "[]",
          "[[]]",
          "[null]",
          "{\"\":1}",
          "{\"a\":{\"a\":1}}",
          "''",
          "undefined",
          "\"\"",
          "\"\\ud800\"",
          "\"\\udc00\\ud83d\"",
          "\"\\u0000\"",
          "\"\\x\"",
          "\"\\u12\"",
          "");

  private final SplittableRandom random;

  /** A generator with this seed. */
  public RandomInput(long seed) {
    random = new SplittableRandom(seed);
    // The first numbers of close seeds are similar.
    random.nextLong();
  }

  /** Texts that are known to break parsers: generated input has each of them too rarely. */
  public static List<String> texts() {
    return TEXTS;
  }

  /** A number from 0 (inclusive) to the bound (exclusive). */
  public int below(int bound) {
    return random.nextInt(bound);
  }

  /** True once in {@code times} calls on average. */
  public boolean onceIn(int times) {
    return below(times) == 0;
  }

  /** One of these values. */
  public <T> T oneOf(List<T> all) {
    return all.get(below(all.size()));
  }

  /** One of these values. */
  @SafeVarargs
  public final <T> T oneOf(T... all) {
    return all[below(all.length)];
  }

  /** A text of any characters, possibly with unpaired surrogates. */
  public String text() {
    return switch (below(12)) {
      case 0 -> oneOf(TEXTS).repeat(1 + below(40));
      case 1 -> "a".repeat(oneOf(35, 36, 37, 99, 100, 101, 255, 256, 1_000, 5_000));
      // A surrogate pair across a length limit.
      case 2 -> "a".repeat(oneOf(59, 63, 99, 254)) + "\uD83D\uDE80" + "b".repeat(below(99));
      case 3 -> codePoints(1 + below(20));
      case 4 -> oneOf(TEXTS) + oneOf(TEXTS);
      default -> oneOf(TEXTS);
    };
  }

  private String codePoints(int count) {
    return IntStream.range(0, count)
        .map(i -> below(oneOf(0x80, 0x800, 0x10000, 0x110000)))
        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
        .toString();
  }

  /** A text of printable ASCII. */
  public String plainText() {
    return text().replaceAll("[^ -~]", "~");
  }

  /** The text as a JSON string, with or without optional escapes. */
  public String quoted(String text) {
    boolean raw = onceIn(2);
    StringBuilder json = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (Character.isSurrogate(c) || c < ' ' || c == '"' || c == '\\' || !raw) {
        json.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
      } else {
        json.append(c);
      }
    }
    return json.append('"').toString();
  }

  /** A replacement for a value, of any type and not always valid JSON. */
  public String value() {
    return switch (below(10)) {
      case 0, 1, 2 -> quoted(text());
      case 3 -> nested("[", "]");
      case 4 -> nested("{\"a\":", "}");
      case 5 -> "9".repeat(oneOf(18, 19, 20, 100, 400, 1_200));
      default -> oneOf(VALUES);
    };
  }

  private String nested(String open, String close) {
    int depth = oneOf(1, 2, 31, 32, 33, 100, 999, 1_000, 1_001, 5_000);
    return open.repeat(depth) + "1" + close.repeat(onceIn(8) ? depth - 1 : depth);
  }

  /** A valid JSON document with one or several mutations. */
  public String mutated(String document) {
    String text = document;
    for (int changes = oneOf(1, 1, 1, 2, 2, 3); changes > 0; changes--) {
      text = onceIn(6) ? garbled(text) : changed(text);
    }
    return text;
  }

  /** A text with characters removed, inserted, repeated or swapped. */
  public String garbled(String text) {
    int at = below(text.length() + 1);
    int to = at + below(text.length() - at + 1);
    return switch (below(8)) {
      case 0 -> text.substring(0, at);
      case 1 -> text.substring(at);
      case 2 -> text.substring(0, at) + text.substring(to);
      case 3 -> text.substring(0, to) + text.substring(at);
      case 4 -> text.substring(0, at) + oneOf(TEXTS) + text.substring(at);
      case 5 -> text + oneOf(TEXTS);
      case 6 -> oneOf("\uFEFF", " ", "\n", ")]}',\n", "[", "\"") + text;
      default ->
          text.isEmpty() || at == text.length()
              ? text + text
              : text.substring(0, at)
                  + (char) (text.charAt(at) ^ (1 << below(7)))
                  + text.substring(at + 1);
    };
  }

  /** The bytes of a text, some of them possibly replaced, so that they are often not UTF-8. */
  public byte[] bytes(String text) {
    byte[] bytes =
        text.getBytes(
            onceIn(20)
                ? oneOf(
                    StandardCharsets.UTF_16, StandardCharsets.ISO_8859_1, StandardCharsets.UTF_16LE)
                : StandardCharsets.UTF_8);
    if (bytes.length > 0 && onceIn(8)) {
      for (int flips = 1 + below(4); flips > 0; flips--) {
        bytes[below(bytes.length)] ^= (byte) (1 << below(8));
      }
    }
    return bytes;
  }

  /** The document with a member or a value removed, repeated, added or replaced. */
  private String changed(String document) {
    List<Span> members = new ArrayList<>();
    List<Span> values = new ArrayList<>();
    find(document, members, values);
    if (members.isEmpty() || values.isEmpty()) {
      return garbled(document);
    }
    Span member = oneOf(members);
    Span value = oneOf(values);
    String text = member.of(document);
    return switch (below(8)) {
      case 0 -> dropped(document, member);
      case 1 -> member.replaced(document, text + "," + text);
      case 2 ->
          member.replaced(
              document, text + "," + text.substring(0, text.indexOf(':')) + ":" + value());
      case 3 -> member.replaced(document, text + "," + quoted(text()) + ":" + value());
      case 4 -> value.replaced(document, oneOf(values).of(document));
      case 5 -> value.replaced(document, "[" + value.of(document) + "]");
      default -> value.replaced(document, value());
    };
  }

  private static String dropped(String document, Span member) {
    boolean first = member.start() == 0 || document.charAt(member.start() - 1) != ',';
    int comma = first && document.startsWith(",", member.end()) ? 1 : 0;
    return document.substring(0, member.start() - (first ? 0 : 1))
        + document.substring(member.end() + comma);
  }

  /** The positions of members and values up to the first syntax error. */
  private static void find(String document, List<Span> members, List<Span> values) {
    try (JsonParser parser = JSON.createParser(document)) {
      List<Integer> starts = new ArrayList<>();
      List<Integer> names = new ArrayList<>();
      int name = -1;
      for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
        int start = (int) parser.currentTokenLocation().getCharOffset();
        if (token == JsonToken.FIELD_NAME) {
          name = start;
        } else if (token.isStructStart()) {
          starts.add(start);
          names.add(name);
          name = -1;
        } else {
          parser.finishToken();
          int end = (int) parser.currentLocation().getCharOffset();
          int from = token.isStructEnd() ? starts.remove(starts.size() - 1) : start;
          int named = token.isStructEnd() ? names.remove(names.size() - 1) : name;
          values.add(new Span(from, end));
          if (named >= 0) {
            members.add(new Span(named, end));
          }
          name = -1;
        }
      }
    } catch (IOException malformed) {
      // The positions before the syntax error are enough.
    }
  }

  /** A range of a text. */
  private record Span(int start, int end) {
    String of(String text) {
      return text.substring(start, end);
    }

    String replaced(String text, String other) {
      return text.substring(0, start) + other + text.substring(end);
    }
  }
}
