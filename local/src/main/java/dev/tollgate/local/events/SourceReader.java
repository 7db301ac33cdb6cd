package dev.tollgate.local.events;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.ServiceClient;
import org.jspecify.annotations.Nullable;

/**
 * Reads one event source and invokes one function with what it holds. A reader of an empty source
 * uses no thread.
 */
abstract class SourceReader {
  final EventSources sources;
  private volatile Mapping mapping;
  private boolean stopped;
  private boolean changing;
  private @Nullable ServiceClient client;

  SourceReader(EventSources sources, Mapping mapping) {
    this.sources = sources;
    this.mapping = mapping;
    this.changing = isChanging();
  }

  /** Reads the source now, because something may have been added to it. */
  abstract void wake();

  /** Reads the source if it may hold something that was not available before. */
  void look() {
    wake();
  }

  final Mapping mapping() {
    return mapping;
  }

  final synchronized void change(Mapping definition) {
    mapping = definition;
    changing = isChanging();
    wake();
  }

  /** Reads nothing more from the source. Invocations under way continue. */
  final synchronized void stop() {
    stopped = true;
  }

  final synchronized boolean mayRead() {
    return !stopped
        && mapping.enabled()
        && !isChanging()
        && sources.functions.exists(mapping.functionArn());
  }

  private boolean isChanging() {
    return mapping.isChangingAt(sources.clock.instant());
  }

  /** Whether the mapping's last change has been completed since the previous call. */
  final synchronized boolean hasJustChanged() {
    boolean before = changing;
    changing = isChanging();
    return before && !changing;
  }

  /** Calls an AWS API with the rights of the function's role. */
  final ServiceClient.Answer tryCall(String service, String target, JsonNode request) {
    return client().call(service, target, request);
  }

  /**
   * Calls an AWS API with the rights of the function's role.
   *
   * @throws IllegalStateException if the API refuses
   */
  final ObjectNode call(String service, String target, JsonNode request) {
    ServiceClient.Answer answer = tryCall(service, target, request);
    if (!answer.succeeded()) {
      throw new IllegalStateException(target + ": " + answer.body());
    }
    return answer.body();
  }

  private synchronized ServiceClient client() {
    ServiceClient made = client;
    if (made == null) {
      made = sources.client(mapping);
      client = made;
    }
    return made;
  }
}
