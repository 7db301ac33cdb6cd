package dev.tollgate.cli.prove.probe;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * What AWS answered to one question.
 *
 * @param question the question's name, which is also that of its file without {@code .json}
 * @param answer the answer without what differs from one run to the next: ids, times, account
 *     numbers and secrets
 */
public record Answer(String question, JsonNode answer) {}
