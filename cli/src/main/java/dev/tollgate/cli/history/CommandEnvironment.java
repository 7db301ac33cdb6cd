package dev.tollgate.cli.history;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.cli.context.Target;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.http.Sender;
import dev.tollgate.cli.terminal.Progress;
import java.util.List;
import java.util.SortedMap;

/** The deployment that a command reads, and the output that the user asked for. */
public interface CommandEnvironment {
  /**
   * The deployment that the command addresses.
   *
   * @throws Failure if there is none
   */
  Target target();

  /** The control plane. */
  Sender controlPlane();

  /** Whether the user asked for CSV, which has no line but those of one table. */
  boolean isCsv();

  /** Prints a response, or the lines if the format is text or CSV. */
  void print(Response response, List<String> lines);

  /** Prints a document, or the lines if the format is text or CSV. */
  void print(JsonNode document, List<String> lines);

  /**
   * Returns a successful response.
   *
   * @param missing what does not exist if the status is 404, and what to do
   * @throws Failure if the response is not successful
   */
  Response found(Response response, String missing);

  /**
   * Reads the documents of the tenants that match the filters, which are query parameters.
   *
   * @throws Failure if a request fails, or the tier in the filters does not exist
   */
  List<JsonNode> tenants(Sender api, SortedMap<String, String> filters);

  /** Shows progress to a person. */
  Progress progress();
}
