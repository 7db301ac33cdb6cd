package dev.tollgate.local.events;

import dev.tollgate.local.endpoint.ServiceClient;
import dev.tollgate.local.lambda.FunctionCatalog;
import dev.tollgate.local.lambda.Functions;
import java.time.InstantSource;
import java.util.concurrent.Executor;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * What readers have in common.
 *
 * @param clients makes a client of a principal's, by name and role
 * @param pool runs what does not wait for functions
 * @param waiters runs what does
 * @param replays whether a stream's records come again after they were processed, by the table
 */
record Surroundings(
    Functions functions,
    FunctionCatalog catalog,
    BiFunction<String, String, ServiceClient> clients,
    InstantSource clock,
    Executor pool,
    Executor waiters,
    Activity activity,
    Predicate<String> replays,
    Consumer<String> log) {

  /**
   * A client with the rights of a mapping's function, whose calls can be told from those that the
   * function makes itself.
   */
  ServiceClient client(Mapping mapping) {
    String role =
        catalog
            .configuration(mapping.functionArn())
            .map(function -> function.path("Role").asText())
            .orElse("");
    return clients.apply(mapping.functionName() + EventSources.PRINCIPAL_SUFFIX, role);
  }
}
