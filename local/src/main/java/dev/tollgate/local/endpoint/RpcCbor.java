package dev.tollgate.local.endpoint;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.dataformat.cbor.CBORGenerator;
import com.fasterxml.jackson.dataformat.cbor.databind.CBORMapper;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.Headers;
import io.undertow.util.HttpString;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The protocol of CloudWatch: the operation is in the path, and bodies are CBOR. Elsewhere in this
 * cloud the bodies are JSON; a time in an answer is an {@link Instant}.
 *
 * @see <a href="https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2.html">Smithy RPC v2
 *     CBOR</a>
 */
public final class RpcCbor {
  private static final HttpString PROTOCOL = HttpString.tryFromString("smithy-protocol");
  private static final String NAME = "rpc-v2-cbor";
  private static final String MEDIA_TYPE = "application/cbor";
  private static final Pattern PATH = Pattern.compile("/service/[^/]+/operation/(\\w+)");
  private static final int EPOCH_SECONDS = 1;
  private static final CBORMapper CBOR =
      CBORMapper.builder()
          .addModule(new SimpleModule().addSerializer(Instant.class, new Timestamp()))
          .build();

  private RpcCbor() {}

  /** Writes a time as the protocol has it: a number with a tag. */
  private static final class Timestamp extends JsonSerializer<Instant> {
    @Override
    public void serialize(Instant time, JsonGenerator out, SerializerProvider unused)
        throws IOException {
      ((CBORGenerator) out).writeTag(EPOCH_SECONDS);
      out.writeNumber(time.toEpochMilli() / 1000.0);
    }
  }

  /** Whether a request is in this protocol. */
  static boolean speaks(HttpServerExchange exchange) {
    return NAME.equals(exchange.getRequestHeaders().getFirst(PROTOCOL));
  }

  /** The operation in a path of this protocol. */
  static Optional<String> operation(String path) {
    return Optional.of(PATH.matcher(path)).filter(Matcher::matches).map(found -> found.group(1));
  }

  /** The JSON of a body; empty if the body is not CBOR. */
  static String json(byte[] body) {
    try {
      return CBOR.readTree(body).toString();
    } catch (IOException e) {
      return "";
    }
  }

  /** Sends an answer. */
  public static void send(HttpServerExchange exchange, JsonNode answer) {
    try {
      exchange.getResponseHeaders().put(PROTOCOL, NAME).put(Headers.CONTENT_TYPE, MEDIA_TYPE);
      exchange.getResponseSender().send(ByteBuffer.wrap(CBOR.writeValueAsBytes(answer)));
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }
}
