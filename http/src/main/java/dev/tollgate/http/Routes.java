package dev.tollgate.http;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPEvent;
import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPResponse;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.LogText;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.UnreadableRow;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * The routes of an HTTP API by their keys, such as {@code GET /tenants/{tenantId}}. An exception of
 * a route becomes a problem document: an invalid value 400, an unavailable service 503, everything
 * else 500. A 500 for an unreadable row names the row if the API is for operators. All other 500s
 * refer to the log.
 */
public final class Routes {
  private static final String SEE_LOG =
      "The request failed. See the log of the function for the reason.";
  private static final String RETRY_AFTER_SECONDS = "1";

  private final Map<String, Route> routes;
  private final boolean forOperators;
  private final UnaryOperator<Response> completion;

  private Routes(
      Map<String, Route> routes, boolean forOperators, UnaryOperator<Response> completion) {
    this.routes = Map.copyOf(routes);
    this.forOperators = forOperators;
    this.completion = completion;
  }

  /** Routes for operators, who may learn the names of rows. */
  public static Routes forOperators(Map<String, Route> routes) {
    return new Routes(routes, true, UnaryOperator.identity());
  }

  /** Routes for clients, who learn nothing about rows. */
  public static Routes forClients(Map<String, Route> routes) {
    return new Routes(routes, false, UnaryOperator.identity());
  }

  /**
   * The same routes, with a change of every response, also of problem documents.
   *
   * @param change must not throw
   */
  public Routes completedBy(UnaryOperator<Response> change) {
    return new Routes(routes, forOperators, change);
  }

  /** The keys of all routes. */
  public Set<String> keys() {
    return routes.keySet();
  }

  /** Dispatches a request to its route. An unknown key becomes a 404. */
  public APIGatewayV2HTTPResponse answer(APIGatewayV2HTTPEvent event, Context context) {
    Request request = new Request(event, context);
    Response response;
    try {
      Route route = routes.get(event.getRouteKey());
      request.requireJsonOfPost();
      response =
          route == null
              ? Problem.notFound("No route `" + event.getRouteKey() + "`.").response()
              : route.answer(request);
    } catch (InvalidValue invalid) {
      response = Problem.invalid(invalid).response();
    } catch (Request.UnreadableBody unreadable) {
      response = unreadable.problem().response();
    } catch (Unavailable unavailable) {
      log(context, unavailable);
      response =
          Problem.of(
                  "unavailable",
                  503,
                  "Unavailable",
                  "A service that this request needs is unavailable. Retry the request.")
              .response()
              .with("retry-after", RETRY_AFTER_SECONDS);
    } catch (UnreadableRow unreadable) {
      log(context, unreadable);
      response = internalError(forOperators ? unreadable.reason() : SEE_LOG);
    } catch (RuntimeException unexpected) {
      log(context, unexpected);
      response = internalError(SEE_LOG);
    }
    return event(completion.apply(response), requestId(event));
  }

  private static Response internalError(String detail) {
    return Problem.of("internal", 500, "Internal error", detail).response();
  }

  private static void log(Context context, RuntimeException thrown) {
    StringWriter trace = new StringWriter();
    thrown.printStackTrace(new PrintWriter(trace, true));
    context.getLogger().log(LogText.lines(trace.toString()) + "\n");
  }

  private static Optional<String> requestId(APIGatewayV2HTTPEvent event) {
    return Optional.ofNullable(event.getRequestContext())
        .map(APIGatewayV2HTTPEvent.RequestContext::getRequestId);
  }

  private static APIGatewayV2HTTPResponse event(Response response, Optional<String> requestId) {
    Map<String, Object> document = new LinkedHashMap<>(response.document());
    if (response.status() >= 400) {
      requestId.ifPresent(id -> document.put("instance", id));
    }
    Map<String, String> headers = new LinkedHashMap<>(response.headers());
    headers.put("cache-control", "no-store");
    headers.put("x-content-type-options", "nosniff");
    return APIGatewayV2HTTPResponse.builder()
        .withStatusCode(response.status())
        .withHeaders(headers)
        .withBody(document.isEmpty() ? "" : Json.write(document))
        .build();
  }

  /** Answers the requests of one route. */
  @FunctionalInterface
  public interface Route {
    /** Answers one request. An exception becomes a problem document. */
    Response answer(Request request);
  }
}
