package dev.tollgate.cli.apply;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.http.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * What a valid file declares, without a comparison with a deployment.
 *
 * @param file the file's name in messages
 * @param tiers the number of tiers
 * @param tenants the number of tenants
 * @param otherTiers tiers that tenants have but the file does not declare, so that only a
 *     deployment can tell whether they exist
 */
public record FileSummary(String file, int tiers, int tenants, SortedSet<String> otherTiers) {
  /**
   * Checks a file.
   *
   * @throws dev.tollgate.cli.http.Failure that lists all errors of the file
   */
  public static FileSummary of(YamlFile file) {
    DesiredState desired = DesiredState.checked(file);
    SortedSet<String> otherTiers = new TreeSet<>();
    desired.tenants().ifPresent(all -> all.values().forEach(one -> otherTiers.add(one.tier())));
    desired.tiers().ifPresent(declared -> otherTiers.removeAll(declared.keySet()));
    return new FileSummary(
        file.name(),
        desired.tiers().map(all -> all.size()).orElse(0),
        desired.tenants().map(all -> all.size()).orElse(0),
        otherTiers);
  }

  public ObjectNode document() {
    ObjectNode document = Json.object().put("tiers", tiers).put("tenants", tenants);
    otherTiers.forEach(document.putArray("tiersNotInFile")::add);
    return document;
  }

  /** The summary in lines for a person. */
  public List<String> lines() {
    List<String> lines = new ArrayList<>();
    lines.add(
        "%s is valid: %s, %s."
            .formatted(
                file, Comparison.counted(tiers, "tier"), Comparison.counted(tenants, "tenant")));
    if (!otherTiers.isEmpty()) {
      lines.add("These tiers must exist in the deployment: " + String.join(", ", otherTiers) + ".");
    }
    return lines;
  }
}
