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
 * What all readers share.
 *
 * @param clients makes a client of a principal's, by name and role
 * @param pool runs work that does not wait for functions
 * @param waiters runs work that waits for functions
 * @param replays whether a stream delivers a batch again after it was processed, by the table
 */
record ReaderContext(
    Functions functions,
    FunctionCatalog catalog,
    BiFunction<String, String, ServiceClient> clients,
    InstantSource clock,
    Executor pool,
    Executor waiters,
    WorkCounter work,
    Predicate<String> replays,
    Consumer<String> log) {

  /**
   * A client with the rights of a mapping's function. Its calls are recorded under another name
   * than the calls that the function makes itself.
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
