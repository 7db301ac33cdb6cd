package dev.tollgate.handlers.connect;

import com.amazonaws.services.lambda.runtime.events.APIGatewayCustomAuthorizerEvent;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Where a handshake carries its JSON Web Token. */
sealed interface TokenPlace {
  /**
   * The token.
   *
   * @throws InvalidToken if there is none
   */
  String token(APIGatewayCustomAuthorizerEvent event);

  /**
   * The place that a text names: {@code query:NAME}, {@code authorization}, {@code subprotocol}.
   */
  static TokenPlace of(String text) {
    if (text.startsWith("query:")) {
      return new InQuery(text.substring("query:".length()));
    }
    return switch (text) {
      case "authorization" -> new InAuthorization();
      case "subprotocol" -> new InSubprotocol();
      default ->
          throw new IllegalStateException(
              "TOKEN_PLACE: " + text + " (expected: query:NAME, authorization or subprotocol)");
    };
  }

  private static Optional<String> header(APIGatewayCustomAuthorizerEvent event, String name) {
    return Subprotocols.header(Optional.ofNullable(event.getHeaders()).orElse(Map.of()), name);
  }

  /** A query parameter. */
  record InQuery(String name) implements TokenPlace {
    @Override
    public String token(APIGatewayCustomAuthorizerEvent event) {
      return Optional.ofNullable(event.getQueryStringParameters())
          .map(parameters -> parameters.get(name))
          .orElseThrow(() -> new InvalidToken("no query parameter " + name));
    }
  }

  /** The header {@code Authorization} (RFC 6750, section 2.1). */
  record InAuthorization() implements TokenPlace {
    private static final String BEARER = "Bearer ";

    @Override
    public String token(APIGatewayCustomAuthorizerEvent event) {
      return header(event, "Authorization")
          .filter(value -> value.regionMatches(true, 0, BEARER, 0, BEARER.length()))
          .map(value -> value.substring(BEARER.length()).strip())
          .orElseThrow(() -> new InvalidToken("no header Authorization with a bearer token"));
    }
  }

  /**
   * A subprotocol {@code tollgate.bearer.TOKEN}, for browsers, which cannot set other headers. The
   * client must offer another subprotocol too, because {@code $connect} has to select one.
   */
  record InSubprotocol() implements TokenPlace {
    @Override
    public String token(APIGatewayCustomAuthorizerEvent event) {
      String offered = header(event, Subprotocols.HEADER).orElse("");
      List<String> tokens = Subprotocols.tokens(offered);
      if (tokens.size() != 1) {
        throw new InvalidToken(tokens.size() + " subprotocols with a token (expected: 1)");
      }
      if (Subprotocols.selected(offered).isEmpty()) {
        throw new InvalidToken("no subprotocol beside that with the token");
      }
      return tokens.get(0);
    }
  }
}
