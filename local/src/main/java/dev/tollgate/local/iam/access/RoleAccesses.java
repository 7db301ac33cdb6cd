package dev.tollgate.local.iam.access;

import dev.tollgate.local.endpoint.Call;
import dev.tollgate.local.iam.Access;
import dev.tollgate.local.iam.Context;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The accesses that are needed to assume a role or to pass it to a service. Session tags need a
 * separate permission (<a
 * href="https://docs.aws.amazon.com/IAM/latest/UserGuide/id_session-tags.html#id_session-tags_permissions-required">Permissions
 * required to add session tags</a>).
 */
final class RoleAccesses {
  private RoleAccesses() {}

  /** The access to pass a role to a service, such as {@code scheduler.amazonaws.com}. */
  static Access pass(String roleArn, String service) {
    return new Access("iam:PassRole", roleArn, Context.EMPTY.with("iam:PassedToService", service));
  }

  static List<Access> of(Call call) {
    if (call.operation().equals("GetCallerIdentity")) {
      return List.of();
    }
    Map<String, String> form = call.form();
    String roleArn = form.getOrDefault("RoleArn", "");
    Context context = Context.EMPTY;
    List<String> keys = new ArrayList<>();
    for (int i = 1; form.containsKey("Tags.member." + i + ".Key"); i++) {
      String key = form.getOrDefault("Tags.member." + i + ".Key", "");
      keys.add(key);
      context =
          context.with(
              "aws:RequestTag/" + key, form.getOrDefault("Tags.member." + i + ".Value", ""));
    }
    context = context.with("aws:TagKeys", keys);
    List<Access> accesses = new ArrayList<>();
    accesses.add(new Access("sts:" + call.operation(), roleArn, context));
    if (!keys.isEmpty()) {
      accesses.add(new Access("sts:TagSession", roleArn, context));
    }
    return accesses;
  }
}
