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

/**
 * The routes of an HTTP API, by their keys, such as {@code GET /tenants/{tenantId}}. Whatever a
 * route throws is answered with a problem document: a refused value with 400, a service that cannot
 * be asked with 503, a row that cannot be read with 500 and, for operators, its name, anything else
 * with 500, of which only the log tells more.
 */
public final class Routes {
  private static final String LOG_TELLS =
      "The request could not be finished; the log of the function tells why.";
  private static final String RETRY_AFTER_SECONDS = "1";

  private final Map<String, Route> routes;
  private final boolean forOperators;

  private Routes(Map<String, Route> routes, boolean forOperators) {
    this.routes = Map.copyOf(routes);
    this.forOperators = forOperators;
  }

  /** Routes by their keys, for whoever may know which rows there are. */
  public static Routes forOperators(Map<String, Route> routes) {
    return new Routes(routes, true);
  }

  /** Routes by their keys, for strangers too, who are not told of rows. */
  public static Routes forAnybody(Map<String, Route> routes) {
    return new Routes(routes, false);
  }

  /** Their keys. */
  public Set<String> keys() {
    return routes.keySet();
  }

  /** Answers a request. */
  public APIGatewayV2HTTPResponse answer(APIGatewayV2HTTPEvent event, Context context) {
    Request request = new Request(event, context);
    Response response;
    try {
      Route route = routes.get(event.getRouteKey());
      request.requireJsonOfPost();
      response =
          route == null
              ? Problem.notFound("no route " + event.getRouteKey()).response()
              : route.answer(request);
    } catch (InvalidValue refused) {
      response = Problem.invalid(refused).response();
    } catch (Request.Unreadable unreadable) {
      response = unreadable.problem().response();
    } catch (Unavailable unavailable) {
      log(context, unavailable);
      response =
          Problem.of(
                  "unavailable",
                  503,
                  "Not available now",
                  "A service that this needs cannot be asked now; the request may be repeated.")
              .response()
              .with("retry-after", RETRY_AFTER_SECONDS);
    } catch (UnreadableRow unreadable) {
      log(context, unreadable);
      response = broken(forOperators ? unreadable.reason() : LOG_TELLS);
    } catch (RuntimeException unexpected) {
      log(context, unexpected);
      response = broken(LOG_TELLS);
    }
    return event(response, requestId(event));
  }

  private static Response broken(String detail) {
    return Problem.of("internal", 500, "Something is broken", detail).response();
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

  /** What answers the requests of one route. */
  @FunctionalInterface
  public interface Route {
    /** Answers a request. */
    Response answer(Request request);
  }
}
