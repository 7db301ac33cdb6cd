package dev.tollgate.handlers.jwt;

import java.util.Map;
import java.util.Optional;

/** The result of verifying a token. */
public sealed interface TokenCheck {
  /**
   * The token is valid.
   *
   * @param claims its claims by name; a claim that is null is absent
   */
  record Valid(Map<String, Object> claims) implements TokenCheck {
    /** Copies the claims. */
    public Valid {
      claims = Map.copyOf(claims);
    }

    /** A claim; empty if it is absent, no string, or the empty string. */
    public Optional<String> text(String name) {
      return claims.get(name) instanceof String text && !text.isEmpty()
          ? Optional.of(text)
          : Optional.empty();
    }
  }

  /**
   * The token is not valid.
   *
   * @param reason why, without any part of the token
   */
  record Invalid(String reason) implements TokenCheck {}
}
