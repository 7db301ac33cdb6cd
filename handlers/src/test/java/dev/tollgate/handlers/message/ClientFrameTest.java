package dev.tollgate.handlers.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tollgate.core.message.IncomingMessage;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ClientFrameTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  private static String message(String frame) {
    ClientFrame read = ClientFrame.of(frame);
    assertThat(read.content()).as(frame).isInstanceOf(IncomingMessage.Message.class);
    return ((IncomingMessage.Message) read.content()).json();
  }

  private static String flaw(String frame) {
    ClientFrame read = ClientFrame.of(frame);
    assertThat(read.content()).as(frame).isInstanceOf(IncomingMessage.Unreadable.class);
    return ((IncomingMessage.Unreadable) read.content()).flaw();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"&MessageGroupId=x&MessageBody=%7B%7D+#\"",
        "\"100%\"",
        "\"a+b\"",
        "\"#hash\"",
        "\"say \\\"hi\\\"\"",
        "\"line\\nline\\r\\n\\ttab \\u0000 \\/\"",
        "\"\\ud83d\\ude00 😀 é \u2028\"",
        "\"\\ud83d\"",
        "\"$input.body #set($x = 1) $context.authorizer.tenantId ${x}\"",
        "\"\"",
        "1e5",
        "1E+05",
        "1.0",
        "-0",
        "-0.0",
        "0",
        "123456789012345678901234567890.000",
        "true",
        "false",
        "null",
        "{}",
        "[]",
        "{\"a\":1,\"a\":2}",
        "{ \"a\" :\t[ 1 ,\n2 ] ,\r\n\"b\":{} }",
        "[1e400, -1e-400, 0.1]",
      })
  void a_message_is_kept_byte_for_byte_at_any_position(String message) {
    for (String space : List.of("", " ", "\n\t \r")) {
      String pair = "\"message\"" + space + ":" + space + message + space;
      assertThat(message("{" + pair + "}")).isEqualTo(message);
      assertThat(message(space + "{\"action\":\"PooledSQS\"," + pair + "}" + space))
          .isEqualTo(message);
      assertThat(message("{" + pair + ",\"id\":\"i\",\"x\":[{\"message\":0}]}")).isEqualTo(message);
      assertThat(message("{\"x\":{\"message\":\"no\"}," + space + pair + "}")).isEqualTo(message);
    }
  }

  @Test
  void any_document_is_kept_byte_for_byte() {
    Random random = new Random(20_260_301);
    for (int i = 0; i < 5_000; i++) {
      String message = document(random, 4);
      String frame =
          "{"
              + space(random)
              + (random.nextBoolean() ? "\"id\":\"x\"," : "")
              + "\"message\""
              + space(random)
              + ":"
              + space(random)
              + message
              + space(random)
              + (random.nextBoolean() ? ",\"action\":\"SiloSQS\"" : "")
              + "}";
      assertThat(message(frame)).isEqualTo(message);
    }
  }

  private static String document(Random random, int depth) {
    return switch (random.nextInt(depth == 0 ? 4 : 6)) {
      case 0 ->
          List.of("0", "-1", "12.50", "1e5", "-2.5E-3", "9007199254740993").get(random.nextInt(6));
      case 1 -> List.of("true", "false", "null").get(random.nextInt(3));
      case 2, 3 -> text(random);
      case 4 ->
          IntStream.range(0, random.nextInt(4))
              .mapToObj(i -> space(random) + document(random, depth - 1) + space(random))
              .collect(Collectors.joining(",", "[", "]"));
      default ->
          IntStream.range(0, random.nextInt(4))
              .mapToObj(i -> space(random) + text(random) + ":" + document(random, depth - 1))
              .collect(Collectors.joining(",", "{", "}"));
    };
  }

  private static String text(Random random) {
    List<String> parts =
        List.of("a", "\\\"", "\\\\", "\\u00e9", "😀", "}", "]", ":", ",", "message", "%", "&", " ");
    return IntStream.range(0, random.nextInt(6))
        .mapToObj(i -> parts.get(random.nextInt(parts.size())))
        .collect(Collectors.joining("", "\"", "\""));
  }

  private static String space(Random random) {
    return List.of("", "", " ", "\n", "\t ", "\r\n").get(random.nextInt(6));
  }

  @ParameterizedTest
  @ValueSource(ints = {10, 4_000, 8_000, 16_384, 65_536, 130_000})
  void long_messages_are_kept_byte_for_byte(int length) {
    String text = "\"" + "é😀\\n".repeat(length / 8) + "\"";
    assertThat(message("{\"action\":\"PooledSQS\",\"message\":" + text + "}")).isEqualTo(text);
    String array = "[" + "10,".repeat(length / 3 - 1) + "0]";
    assertThat(message("{\"message\" : " + array + " }")).isEqualTo(array);
    String number = "1" + "0".repeat(length);
    assertThat(message("{\"id\":\"i\",\"message\":" + number + "}")).isEqualTo(number);
    String name = "{\"" + "n".repeat(length) + "\":0}";
    assertThat(message("{\"message\":" + name + "}")).isEqualTo(name);
  }

  @Test
  void a_message_is_refused_only_if_no_frame_can_carry_it() {
    String frame = "{\"action\":\"SiloSQS\",\"id\":\"i\",\"message\":\"%s\"}";
    int room = 128 * 1024 - frame.formatted("").length();
    String largest = frame.formatted("x".repeat(room));
    assertThat(message(largest)).hasSize(room + 2);
    assertThat(new JsonFrames().message("i", message(largest)).length())
        .isLessThanOrEqualTo(128 * 1024);

    String id = "1".repeat(36);
    int longest = 128 * 1024 - new JsonFrames().message(id, "").length();
    String fits = "\"" + "x".repeat(longest - 2) + "\"";
    assertThat(message("{\"message\":" + fits + "}")).isEqualTo(fits);
    assertThat(new JsonFrames().reply(id, fits)).hasSizeLessThan(128 * 1024);
    assertThat(flaw("{\"message\":\"" + "x".repeat(longest - 1) + "\"}"))
        .isEqualTo(
            "message: %d bytes (expected: at most %d bytes)".formatted(longest + 1, longest));
    assertThat(flaw("{\"message\":\"" + "😀".repeat(longest / 4 + 1) + "\"}")).contains("bytes");
  }

  @Test
  void a_message_may_be_nested_up_to_1000_deep() {
    String deep = "[".repeat(998) + "]".repeat(998);
    assertThat(message("{\"message\":" + deep + "}")).isEqualTo(deep);

    String deeper = "[".repeat(1_001) + "]".repeat(1_001);
    assertThat(flaw("{\"message\":" + deeper + "}"))
        .endsWith("(expected: nested at most 1000 deep)");
    assertThat(flaw("{\"message\":" + "[".repeat(60_000) + "}")).contains("1000 deep");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "hello",
        "\"text\"",
        "[]",
        "null",
        "{\"message\":1",
        "{\"message\":1}}",
        "{\"message\":1} {}",
        "{\"message\":1} x",
        "{\"message\":}",
        "{\"message\":01}",
        "{\"message\":NaN}",
        "{\"message\":'a'}",
        "{message:1}",
        "{\"message\":1,}",
        "{\"message\":\"a\nb\"}",
        "{\"message\":\"\\x\"}",
        "/**/{\"message\":1}",
        "\uFEFF{\"message\":1}",
        "{}",
        "{\"action\":\"SiloSQS\",\"id\":\"i\"}",
        "{\"Message\":1}",
        "{\"message\":1,\"message\":2}",
        "{\"id\":\"a\",\"id\":\"b\",\"message\":1}",
        "{\"id\":\"a b\",\"message\":1}",
        "{\"id\":{},\"message\":1}",
        "{\"id\":[\"a\"],\"message\":1}",
      })
  void an_invalid_frame_is_unreadable(String frame) {
    assertThat(flaw(frame)).contains("(expected: ");
  }

  @Test
  void an_id_is_a_short_text_or_a_number() {
    assertThat(ClientFrame.of("{\"message\":1,\"id\":\"a_B-9\"}").id()).contains("a_B-9");
    assertThat(ClientFrame.of("{\"message\":1,\"id\":5}").id()).contains("5");
    for (String none : List.of("null", "\"\"")) {
      ClientFrame nameless = ClientFrame.of("{\"id\":" + none + ",\"message\":1}");
      assertThat(nameless).isEqualTo(ClientFrame.of("{\"message\":1}"));
    }
    assertThat(ClientFrame.of("{\"message\":1}").id()).isEmpty();
    assertThat(ClientFrame.of("{\"message\":1,\"id\":\"" + "i".repeat(65) + "\"}").id()).isEmpty();
    assertThat(ClientFrame.of("{\"id\":\"known\",\"message\":oops}").id()).contains("known");
  }

  @ParameterizedTest
  @ValueSource(strings = {"{\"a\":1,\"a\":2}", " 1e5 ", "\"\\ud83d\"", "[ ]"})
  void a_frame_keeps_the_bytes_of_its_message(String json) throws Exception {
    String frame = new JsonFrames().reply("m1", json);
    assertThat(frame).isEqualTo("{\"type\":\"reply\",\"id\":\"m1\",\"message\":" + json + "}");
    assertThat(JSON.readTree(frame).get("id").asText()).isEqualTo("m1");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "hello", "1 2", "1}", "{\"a\":1}, \"type\":\"error\"", "{", "[1"})
  void a_reply_that_is_not_json_is_refused(String json) {
    assertThatThrownBy(() -> new JsonFrames().reply("m1", json)).hasMessageStartingWith("reply: ");
  }
}
