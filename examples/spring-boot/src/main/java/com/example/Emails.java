package com.example;

import dev.tollgate.client.Claim;
import dev.tollgate.client.TollgateClient;
import dev.tollgate.client.UnknownBucket;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Accepts a tenant's email if its bucket {@code send-email} has a token.
 *
 * <p>A real service takes the tenant's id from the caller's sign-in, not from the path.
 */
@RestController
class Emails {
  private final TollgateClient tollgate;
  private final InstantSource clock;

  Emails(TollgateClient tollgate, InstantSource clock) {
    this.tollgate = tollgate;
    this.clock = clock;
  }

  @PostMapping("/tenants/{tenantId}/emails")
  ResponseEntity<String> send(@PathVariable String tenantId) {
    Claim claim = tollgate.bucket(tenantId, "send-email").tryClaim();
    if (claim instanceof Claim.Denied denied) {
      return ResponseEntity.status(HttpStatus.TOO_MANY_REQUESTS)
          .header(HttpHeaders.RETRY_AFTER, Long.toString(secondsUntil(denied.retryAt())))
          .body("No email is left for now.\n");
    }
    if (claim instanceof Claim.Undecided) {
      // The queue of the bucket failed. This service refuses; another one may prefer to admit.
      return ResponseEntity.status(HttpStatus.SERVICE_UNAVAILABLE).body("Try again later.\n");
    }
    return ResponseEntity.accepted().body("The email is on its way.\n");
  }

  @ExceptionHandler
  ResponseEntity<String> unknown(UnknownBucket unknown) {
    return ResponseEntity.status(HttpStatus.NOT_FOUND).body(unknown.getMessage() + "\n");
  }

  /** Whole seconds, rounded up: a caller must not come back too early. */
  private long secondsUntil(Instant time) {
    long millis = Duration.between(clock.instant(), time).toMillis();
    return Math.max(1, (millis + 999) / 1_000);
  }
}
