package dev.tollgate.e2e.models;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** The API of an AWS service as AWS describes it, from {@code aws-java-sdk-models}. */
final class ServiceModel {
  private static final ObjectMapper JSON = new ObjectMapper();

  /**
   * What the services have and models of this version lack, by file. The SDK knows each of it.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtimes.html#runtimes-supported">Supported
   *     runtimes</a>
   * @see <a
   *     href="https://docs.aws.amazon.com/lambda/latest/api/API_EventSourceMappingConfiguration.html">EventSourceMappingConfiguration</a>
   */
  private static final Map<String, String> ADDITIONS =
      Map.of(
          "lambda-2015-03-31",
          """
          {"Runtime": {"enum": ["java25"]},
           "EventSourceMappingConfiguration":
             {"members": {"EventSourceMappingArn": {"shape": "Arn"}}}}
          """);

  private final JsonNode model;
  private final Shapes shapes;

  private ServiceModel(JsonNode model) {
    this.model = model;
    shapes = new Shapes(model.path("shapes"));
  }

  /**
   * Reads a model.
   *
   * @param name the file's name without its ending, such as {@code sqs-2012-11-05}
   * @throws IllegalArgumentException if there is no such model
   */
  static ServiceModel read(String name) {
    try (InputStream file =
        ServiceModel.class.getResourceAsStream("/models/" + name + "-model.json")) {
      if (file == null) {
        throw new IllegalArgumentException("model: " + name + " (expected: one of AWS's)");
      }
      JsonNode model = JSON.readTree(file);
      JSON.readerForUpdating(model.path("shapes")).readTree(ADDITIONS.getOrDefault(name, "{}"));
      return new ServiceModel(model);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A property of the service, such as {@code apiVersion}; empty if it is not set. */
  String property(String name) {
    return model.path("metadata").path(name).asText();
  }

  /** The shapes of the service. */
  Shapes shapes() {
    return shapes;
  }

  /** An operation, if the service has it. */
  Optional<Operation> operation(String name) {
    return Optional.ofNullable(model.path("operations").get(name)).map(Operation::new);
  }

  /** All operations. */
  Stream<Operation> operations() {
    return StreamSupport.stream(model.path("operations").spliterator(), false).map(Operation::new);
  }

  /** An operation of a service. */
  record Operation(JsonNode json) {
    /** The name, such as {@code SendMessage}. */
    String name() {
      return json.path("name").asText();
    }

    /** The HTTP method. */
    String method() {
      return json.path("http").path("method").asText();
    }

    /** The template of the path, such as {@code /schedules/{Name}}, without a slash at its end. */
    String path() {
      return json.path("http").path("requestUri").asText().replaceAll("/?([?].*)?$", "");
    }

    /** The HTTP status of an answer without an error. */
    int status() {
      return json.path("http").path("responseCode").asInt(200);
    }

    /** The shape of the request, if it has members. */
    Optional<String> input() {
      return shape(json.path("input"));
    }

    /** The shape of the answer, if it has members. */
    Optional<String> output() {
      return shape(json.path("output"));
    }

    /** Whether the operation fails with an error. */
    boolean hasError(String shape) {
      return StreamSupport.stream(json.path("errors").spliterator(), false)
          .anyMatch(error -> error.path("shape").asText().equals(shape));
    }

    private static Optional<String> shape(JsonNode reference) {
      return Optional.ofNullable(reference.get("shape")).map(JsonNode::asText);
    }
  }
}
