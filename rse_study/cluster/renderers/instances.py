"""Descriptions of machines in each cloud's own terms."""

from typing import Any

from rse_study.cluster.kinds.clouds import (
    AwsCluster,
    AzureCluster,
    CloudCluster,
    CloudGroup,
    CloudHead,
    GcpCluster,
    GcpGroup,
)

Described = dict[str, Any]


def provider_of(spec: CloudCluster) -> Described:
    """Return the provider section; ended machines are terminated, never cached."""
    if isinstance(spec, AwsCluster):
        zone = {"availability_zone": spec.zone} if spec.zone else {}
        return {"type": "aws", "region": spec.region, **zone, "cache_stopped_nodes": False}
    if isinstance(spec, GcpCluster):
        where = {"region": spec.region, "availability_zone": spec.zone}
        return {"type": "gcp", **where, "project_id": spec.project, "cache_stopped_nodes": False}
    assert isinstance(spec, AzureCluster)
    where = {"location": spec.region, "resource_group": spec.resource_group}
    return {"type": "azure", **where, "availability_zone": spec.zone or "auto", "cache_stopped_nodes": False}


def virtual_machine(spec: CloudCluster, machine: CloudHead | CloudGroup, *, is_spot: bool) -> Described:
    """Describe a machine, on demand or spot, in its cloud's own terms."""
    if isinstance(spec, AwsCluster):
        return _aws(spec, machine, is_spot)
    if isinstance(spec, GcpCluster):
        return _gcp(spec, machine, is_spot)
    assert isinstance(spec, AzureCluster)
    return _azure(spec, machine, is_spot)


def _aws(spec: AwsCluster, machine: CloudHead | CloudGroup, is_spot: bool) -> Described:
    profile = {"IamInstanceProfile": {"Name": spec.instance_profile}} if spec.instance_profile else {}
    spot = {"InstanceMarketOptions": {"MarketType": "spot"}} if is_spot else {}
    return {
        "InstanceType": machine.instance,
        "ImageId": spec.image,
        "BlockDeviceMappings": [
            {"DeviceName": "/dev/sda1", "Ebs": {"VolumeSize": machine.disk_gb, "VolumeType": "gp3"}}
        ],
        "InstanceInitiatedShutdownBehavior": "terminate",  # at its time limit it is terminated, not stopped
        **profile,
        **spot,
    }


def _gcp(spec: GcpCluster, machine: CloudHead | CloudGroup, is_spot: bool) -> Described:
    disk = {"diskSizeGb": machine.disk_gb, "sourceImage": spec.image}
    scheduling: Described = {
        "maxRunDuration": {"seconds": str(round(spec.limits.hours * 3600))},
        "instanceTerminationAction": "DELETE",
    }
    if is_spot:
        scheduling |= {"provisioningModel": "SPOT"}
    if machine.gpus:
        scheduling |= {"onHostMaintenance": "TERMINATE"}
    described: Described = {
        "machineType": machine.instance,
        "disks": [{"boot": True, "autoDelete": True, "type": "PERSISTENT", "initializeParams": disk}],
        "scheduling": scheduling,
    }
    if isinstance(machine, GcpGroup) and machine.accelerator:
        path = f"zones/{spec.zone}/acceleratorTypes/{machine.accelerator}"
        described["guestAccelerators"] = [
            {"acceleratorType": f"projects/{spec.project}/{path}", "acceleratorCount": machine.gpus}
        ]
    if spec.service_account:
        scopes = ["https://www.googleapis.com/auth/cloud-platform"]
        described["serviceAccounts"] = [{"email": spec.service_account, "scopes": scopes}]
    return described


def _azure(spec: AzureCluster, machine: CloudHead | CloudGroup, is_spot: bool) -> Described:
    image = spec.image
    parameters: Described = {
        "vmSize": machine.instance,
        "imagePublisher": image.publisher,
        "imageOffer": image.offer,
        "imageSku": image.sku,
        "imageVersion": image.version,
        "osDiskSize": machine.disk_gb,
    }
    return {"azure_arm_parameters": parameters | ({"priority": "Spot"} if is_spot else {})}
