package dev.tollgate.infra;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import software.amazon.awscdk.CfnResource;
import software.amazon.awscdk.Stack;
import software.amazon.jsii.Kernel;
import software.amazon.jsii.NativeType;
import software.constructs.Construct;

/**
 * The order in which CloudFormation creates the parts of an API: one after another. CloudFormation
 * would create all routes at once. API Gateway takes one change of an API at a time, and answers
 * others with a conflict, which fails the stack now and then.
 *
 * @see <a href="https://github.com/hashicorp/terraform-provider-aws/issues/18018">ConflictException
 *     of parallel routes</a>, as seen with another tool
 */
final class ApiChanges {
  /** No type refers to a later one. */
  private static final List<String> ORDER =
      List.of(
          "AWS::ApiGatewayV2::Authorizer",
          "AWS::ApiGatewayV2::Integration",
          "AWS::ApiGatewayV2::IntegrationResponse",
          "AWS::ApiGatewayV2::Route",
          "AWS::ApiGatewayV2::RouteResponse");

  private ApiChanges() {}

  /** Makes each part of each API within the scope depend on the one before. */
  static void oneAfterAnother(Construct scope) {
    Map<Object, List<CfnResource>> parts = new LinkedHashMap<>();
    scope.getNode().findAll().stream()
        .filter(CfnResource.class::isInstance)
        .map(CfnResource.class::cast)
        .filter(resource -> ORDER.contains(resource.getCfnResourceType()))
        .sorted(Comparator.comparingInt(part -> ORDER.indexOf(part.getCfnResourceType())))
        .forEach(part -> parts.computeIfAbsent(api(part), id -> new ArrayList<>()).add(part));
    parts
        .values()
        .forEach(
            api -> {
              for (int i = 1; i < api.size(); i++) {
                api.get(i).addResourceDependency(api.get(i - 1));
              }
            });
  }

  /** The reference to the API that a part belongs to. */
  private static Object api(CfnResource part) {
    // The accessor is protected in Java.
    Map<String, Object> properties =
        Kernel.get(part, "cfnProperties", NativeType.mapOf(NativeType.forClass(Object.class)));
    return Stack.of(part).resolve(properties.get("apiId"));
  }
}
