package com.example;

import java.util.Map;
import software.amazon.awscdk.App;
import software.amazon.awscdk.CfnOutput;
import software.amazon.awscdk.Duration;
import software.amazon.awscdk.Stack;
import software.amazon.awscdk.aws_apigatewayv2_integrations.WebSocketLambdaIntegration;
import software.amazon.awscdk.services.apigatewayv2.WebSocketApi;
import software.amazon.awscdk.services.apigatewayv2.WebSocketRouteOptions;
import software.amazon.awscdk.services.apigatewayv2.WebSocketStage;
import software.amazon.awscdk.services.dynamodb.Attribute;
import software.amazon.awscdk.services.dynamodb.AttributeType;
import software.amazon.awscdk.services.dynamodb.BillingMode;
import software.amazon.awscdk.services.dynamodb.GlobalSecondaryIndexProps;
import software.amazon.awscdk.services.dynamodb.Table;
import software.amazon.awscdk.services.lambda.Code;
import software.amazon.awscdk.services.lambda.Function;
import software.amazon.awscdk.services.lambda.Runtime;

/** A chat of workspaces over a WebSocket API. */
public final class ChatApp {
  private static final String STAGE = "live";

  private ChatApp() {}

  public static void main(String[] arguments) {
    App app = new App();
    Stack stack = new Stack(app, "Chat");
    Table members =
        Table.Builder.create(stack, "Members")
            .partitionKey(text("connectionId"))
            .billingMode(BillingMode.PAY_PER_REQUEST)
            .build();
    members.addGlobalSecondaryIndex(
        GlobalSecondaryIndexProps.builder()
            .indexName("byWorkspace")
            .partitionKey(text("workspace"))
            .build());
    Function connect = function(stack, "OnConnect", members);
    Function disconnect = function(stack, "OnDisconnect", members);
    Function say = function(stack, "OnSay", members);

    WebSocketApi api =
        WebSocketApi.Builder.create(stack, "Api")
            .apiName("chat")
            .connectRouteOptions(to(connect))
            .disconnectRouteOptions(to(disconnect))
            .build();
    api.addRoute("say", to(say));
    WebSocketStage stage =
        WebSocketStage.Builder.create(stack, "Stage")
            .webSocketApi(api)
            .stageName(STAGE)
            .autoDeploy(true)
            .build();
    stage.grantManagementApiAccess(say);
    say.addEnvironment("CONNECTIONS_URL", api.getApiEndpoint() + "/" + STAGE);

    CfnOutput.Builder.create(stack, "WebSocketURL")
        .value(api.getApiEndpoint() + "/" + STAGE)
        .build();
    app.synth();
  }

  private static Attribute text(String name) {
    return Attribute.builder().name(name).type(AttributeType.STRING).build();
  }

  private static WebSocketRouteOptions to(Function function) {
    return WebSocketRouteOptions.builder()
        .integration(new WebSocketLambdaIntegration("To", function))
        .build();
  }

  private static Function function(Stack stack, String name, Table members) {
    Function function =
        Function.Builder.create(stack, name)
            .runtime(Runtime.JAVA_21)
            .code(Code.fromAsset("functions/target/chat-functions.jar"))
            .handler("com.example.chat." + name)
            .memorySize(512)
            .timeout(Duration.seconds(10))
            .environment(Map.of("MEMBERS_TABLE", members.getTableName()))
            .build();
    members.grantReadWriteData(function);
    return function;
  }
}
