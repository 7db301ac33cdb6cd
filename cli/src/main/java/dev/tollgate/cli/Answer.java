package dev.tollgate.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.net.http.HttpHeaders;

/**
 * What an API answered.
 *
 * @param status the HTTP status code
 * @param body the body as it came, perhaps empty
 */
record Answer(int status, HttpHeaders headers, String body) {

  boolean succeeded() {
    return status / 100 == 2;
  }

  /** This answer, unless it is a refusal. */
  Answer orFail() {
    if (!succeeded()) {
      throw Failure.refused(this);
    }
    return this;
  }

  /** The body as JSON; a missing node when it holds none. */
  JsonNode json() {
    return Json.parse(body).orElse(MissingNode.getInstance());
  }

  Problem problem() {
    return Problem.of(status, body);
  }
}
