package dev.tollgate.local.gateway.mapping;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.jayway.jsonpath.Configuration;
import com.jayway.jsonpath.JsonPath;
import com.jayway.jsonpath.ParseContext;
import com.jayway.jsonpath.PathNotFoundException;
import com.jayway.jsonpath.spi.json.JacksonJsonProvider;
import dev.tollgate.local.json.Json;
import java.io.StringWriter;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import java.util.Properties;
import org.apache.velocity.VelocityContext;
import org.apache.velocity.runtime.RuntimeConstants;
import org.apache.velocity.runtime.RuntimeInstance;
import org.apache.velocity.util.introspection.SecureUberspector;
import org.jspecify.annotations.Nullable;

/**
 * Mapping templates in the Velocity template language (API Gateway Developer Guide, "WebSocket API
 * mapping template reference").
 *
 * <p>Velocity is configured to behave like version 1.7, because API Gateway does: {@code #if} takes
 * an empty text as true.
 */
public final class MappingTemplate {
  private static final RuntimeInstance ENGINE = engine();

  /** A text that is not JSON has no values. */
  private static final ParseContext PATHS =
      JsonPath.using(
          Configuration.builder().jsonProvider(new JacksonJsonProvider(Json.MAPPER)).build());

  private MappingTemplate() {}

  /**
   * Renders a template.
   *
   * @param body the value of {@code $input}: the client's message, or the body of an answer
   * @param context the value of {@code $context}
   * @throws RuntimeException if the template is malformed, or applies a method to a value that the
   *     body does not have
   */
  public static String render(
      String template, String body, JsonNode context, Map<String, String> stageVariables) {
    VelocityContext variables = new VelocityContext();
    variables.put("input", new Input(body));
    variables.put("util", new Utilities());
    variables.put("context", Json.MAPPER.convertValue(context, Map.class));
    variables.put("stageVariables", stageVariables);
    StringWriter rendered = new StringWriter();
    ENGINE.evaluate(variables, rendered, "template", template);
    return rendered.toString();
  }

  private static RuntimeInstance engine() {
    Properties settings = new Properties();
    settings.setProperty(RuntimeConstants.CHECK_EMPTY_OBJECTS, "false");
    settings.setProperty(RuntimeConstants.SPACE_GOBBLING, "bc");
    settings.setProperty(RuntimeConstants.UBERSPECT_CLASSNAME, SecureUberspector.class.getName());
    RuntimeInstance engine = new RuntimeInstance();
    engine.init(settings);
    return engine;
  }

  /** The value of {@code $input}. Velocity calls only methods of public classes. */
  public static final class Input {
    private final String body;

    Input(String body) {
      this.body = body;
    }

    /** {@code $input.body}: the unparsed body. */
    public String getBody() {
      return body;
    }

    /** {@code $input.path(…)}: the value at a JSON path; an empty text if there is none. */
    public @Nullable Object path(String path) {
      if (body.isBlank()) {
        return "";
      }
      try {
        return PATHS.parse(body).read(path);
      } catch (PathNotFoundException e) {
        return "";
      }
    }

    /** {@code $input.json(…)}: the value at a JSON path, as JSON. */
    public String json(String path) throws JsonProcessingException {
      return Json.MAPPER.writeValueAsString(path(path));
    }
  }

  /** The value of {@code $util}. */
  public static final class Utilities {
    /** Encodes a value of a form. */
    public String urlEncode(String text) {
      return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    /** Decodes a value of a form. */
    public String urlDecode(String text) {
      return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }

    /** Encodes the bytes of a text in UTF-8. */
    public String base64Encode(String text) {
      return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Decodes a text in UTF-8. */
    public String base64Decode(String text) {
      return new String(Base64.getDecoder().decode(text), StandardCharsets.UTF_8);
    }

    /** Escapes a text for a string literal of JavaScript. */
    public String escapeJavaScript(String text) throws JsonProcessingException {
      String quoted =
          Json.MAPPER
              .writer()
              .with(JsonWriteFeature.ESCAPE_NON_ASCII.mappedFeature())
              .writeValueAsString(text);
      return quoted.substring(1, quoted.length() - 1).replace("'", "\\'").replace("/", "\\/");
    }

    /** Parses JSON to a value that the template can use. */
    public Object parseJson(String text) {
      return PATHS.parse(text).json();
    }
  }
}
